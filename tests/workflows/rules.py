"""What the workflows promise beyond being well-formed. Prints what is broken, one line each; argument:
a folder into which each `run:` is written as a script."""
import os
import re
import sys

import yaml

broken = []


def need(holds, text):
    if not holds:
        broken.append(text)


def load(name):
    with open('.github/workflows/' + name, encoding='utf-8') as f:
        text = f.read()
    flow = yaml.safe_load(text)
    flow['on'] = flow.pop(True)  # YAML 1.1 takes on for true
    return flow, text


scripts = sys.argv[1]
for name in sorted(os.listdir('.github/workflows')):
    flow, text = load(name)
    need(flow.get('permissions') in ({}, {'contents': 'read'}), f'{name}: permissions are not minimal')
    need('concurrency' in flow, f'{name}: no concurrency group')
    need('pull_request_target' not in flow['on'], f'{name}: runs a stranger\'s code with rights')
    for use in re.findall(r'uses: *(.*)', text):
        need(re.fullmatch(r'actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+', use), f'{name}: not pinned: {use}')
    for job, body in flow['jobs'].items():
        need('timeout-minutes' in body, f'{name}: {job} may run for ever')
        for i, step in enumerate(body['steps']):
            if 'actions/checkout@' in step.get('uses', ''):
                need(step['with'].get('persist-credentials') is False, f'{name}: {job} leaves a token in the checkout')
            if 'run' in step:
                need('${{' not in step['run'], f'{name}: {job} pastes an expression into a script')
                with open(f'{scripts}/{name}-{job}-{i}.sh', 'w', encoding='utf-8') as f:
                    f.write('#!/bin/bash\n' + step['run'] + '\n')

flow, text = load('release.yml')
need(flow['on']['schedule'] == [{'cron': '0 12 * * 3'}], 'release.yml: not on Wednesdays at 12:00 UTC')
need(flow['on']['workflow_dispatch']['inputs']['publish']['default'] == 'draft', 'release.yml: no draft by default')
need('pull_request' in flow['on'], 'release.yml: no preview of pull requests')
need(flow['permissions'] == {}, 'release.yml: jobs begin with rights')
for job, body in flow['jobs'].items():
    rights = {'contents': 'write' if job == 'publish' else 'read'}
    need(body['permissions'] == rights, f'release.yml: {job} has {body["permissions"]}')
    if job != 'publish':
        need('secrets.' not in yaml.safe_dump(body), f'release.yml: {job} gets a secret')
need("github.event_name != 'pull_request'" in flow['jobs']['publish']['if'], 'release.yml: a pull request publishes')
need('android-arm64' in text and 'linux-arm64' in text, 'release.yml: a platform is missing')
flow, text = load('ci.yml')
need(any(step.get('run') == '.ci/run' for step in flow['jobs']['test']['steps']), 'ci.yml: does not run .ci/run')

print('\n'.join(broken), end='\n' if broken else '')
