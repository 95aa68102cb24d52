// Drives a headless Chromium over a pipe (the DevTools protocol, one JSON text behind the other,
// each with a zero byte at its end). Needs nothing but node.
'use strict';
const { spawn } = require('child_process');

const PATIENCE_MS = 60000;

class Browser {
  // profile: an empty folder of its own.
  constructor(profile) {
    this.child = spawn(process.env.CHROMIUM || 'chromium', ['--headless=new', '--no-sandbox', '--disable-gpu',
      '--no-first-run', '--disable-extensions', '--disable-background-networking', '--disable-component-update',
      '--disable-dev-shm-usage', '--hide-scrollbars', '--remote-debugging-pipe', `--user-data-dir=${profile}`,
      'about:blank'], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    this.waiting = new Map();
    this.listeners = [];
    this.last = 0;
    this.rest = '';
    this.child.stdio[4].setEncoding('utf8');
    this.child.stdio[4].on('data', text => this.take(text));
    this.gone = new Promise(resolve => this.child.on('exit', resolve));
    this.child.on('error', e => this.fail(e));
    this.child.on('exit', code => this.fail(new Error(`the browser ended with ${code}`)));
    this.child.stdio[3].on('error', () => {});
  }

  fail(e) {
    for (const { reject } of this.waiting.values())
      reject(e);
    this.waiting.clear();
  }

  take(text) {
    const messages = (this.rest + text).split('\0');
    this.rest = messages.pop();
    for (const message of messages.map(m => JSON.parse(m))) {
      const waits = this.waiting.get(message.id);
      this.waiting.delete(message.id);
      if (!waits)
        this.listeners.forEach(l => l(message));
      else if (message.error)
        waits.reject(new Error(`${waits.method}: ${message.error.message}`));
      else
        waits.resolve(message.result);
    }
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.last;
    this.child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method} takes too long`)), PATIENCE_MS);
      this.waiting.set(id, {
        method,
        resolve: v => { clearTimeout(timer); resolve(v); },
        reject: e => { clearTimeout(timer); reject(e); },
      });
    });
  }

  async page() {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network'])
      await page.send(`${domain}.enable`);
    return page;
  }

  async close() {
    await this.send('Browser.close').catch(() => this.child.kill());
    await this.gone;
  }
}

const KEYS = { ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Home: 36, End: 35, Escape: 27, Tab: 9, Enter: 13 };

class Page {
  constructor(browser, session, target) {
    this.browser = browser;
    this.session = session;
    this.target = target;
    this.complaints = []; // of the console, and exceptions
    this.requests = [];
    this.scripts = true;
    browser.listeners.push(m => m.sessionId === session && this.hear(m));
  }

  hear({ method, params }) {
    if (method === 'Runtime.exceptionThrown')
      this.complaints.push(params.exceptionDetails.exception?.description || params.exceptionDetails.text);
    else if (method === 'Runtime.consoleAPICalled')
      this.complaints.push(params.args.map(a => a.value).join(' '));
    else if (method === 'Log.entryAdded')
      this.complaints.push(params.entry.text);
    else if (method === 'Network.requestWillBeSent')
      this.requests.push(params.request.url);
    else if (method === 'Page.loadEventFired' && this.loaded)
      this.loaded();
  }

  send(method, params) {
    return this.browser.send(method, params, this.session);
  }

  async open(url) {
    const loaded = new Promise(resolve => { this.loaded = resolve; });
    await this.send('Page.navigate', { url });
    await loaded;
    if (this.scripts)
      await this.frames();
  }

  // What an expression comes to; promises are waited for.
  async ask(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails)
      throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
    return result.value;
  }

  // Until what was asked for is painted.
  frames() {
    return this.ask('new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(r))))');
  }

  async press(key) {
    const event = { key, windowsVirtualKeyCode: KEYS[key] || key.toUpperCase().charCodeAt(0) };
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', text: KEYS[key] ? undefined : key, ...event });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
    await this.frames();
  }

  async mouse(type, x, y, more = {}) {
    await this.send('Input.dispatchMouseEvent', { type, x, y, ...more });
    if (type !== 'mouseMoved')
      await this.frames();
  }

  async clickAt(x, y) {
    await this.mouse('mouseMoved', x, y);
    await this.mouse('mousePressed', x, y, { button: 'left', buttons: 1, clickCount: 1 });
    await this.mouse('mouseReleased', x, y, { button: 'left', clickCount: 1 });
  }

  // In the midst of what a selector finds, once that is in view.
  async click(selector) {
    const [x, y] = await this.ask(`(() => {
      const e = document.querySelector(${JSON.stringify(selector)});
      e.scrollIntoView({ block: 'center', behavior: 'instant' });
      const b = e.getBoundingClientRect();
      return [b.left + b.width / 2, b.top + b.height / 2];
    })()`);
    await this.clickAt(x, y);
  }

  async drag(x0, y0, x1, y1) {
    await this.mouse('mouseMoved', x0, y0);
    await this.mouse('mousePressed', x0, y0, { button: 'left', buttons: 1, clickCount: 1 });
    for (let i = 1; i <= 4; i++)
      await this.mouse('mouseMoved', x0 + (x1 - x0) * i / 4, y0 + (y1 - y0) * i / 4, { button: 'left', buttons: 1 });
    await this.mouse('mouseReleased', x1, y1, { button: 'left', clickCount: 1 });
  }

  size(width, height, mobile = false, scale = 1) {
    return this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: scale, mobile });
  }

  media(scheme, type = '') {
    return this.send('Emulation.setEmulatedMedia', { media: type, features: [{ name: 'prefers-color-scheme', value: scheme }] });
  }

  script(on) {
    this.scripts = on;
    return this.send('Emulation.setScriptExecutionDisabled', { value: !on });
  }

  // PNG; all of the page, or what is in the window.
  async picture(full = false) {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: full });
    return Buffer.from(data, 'base64');
  }

  async paper() {
    const { data } = await this.send('Page.printToPDF', { printBackground: true, preferCSSPageSize: true, paperWidth: 8.27, paperHeight: 11.69 });
    return Buffer.from(data, 'base64');
  }

  close() {
    return this.browser.send('Target.closeTarget', { targetId: this.target });
  }
}

module.exports = { Browser };
