# shellcheck shell=bash
# Two distcc daemons on loopback, for the scripts that source this.
distcc_pids=()
distcc_log=

# Starts them, sets DISTCC_HOSTS, and forbids compiling here instead: what comes out was compiled by
# the daemons. Status 1 when they cannot run.
distcc_start() { # folder for logs
    local i port pid
    local -a user=()
    [[ $EUID -ne 0 ]] || user=(--user "$(id -un 65534 2>/dev/null || echo nobody)")
    local dir
    dir=$(cd "$1" && pwd) || return
    distcc_log=$dir/distccd
    DISTCC_HOSTS=
    for i in 1 2; do
        # A port may be taken: five attempts.
        for _ in 1 2 3 4 5; do
            port=$((20000 + RANDOM % 20000))
            distccd --no-detach --daemon --listen 127.0.0.1 --allow 127.0.0.1 --port "$port" \
                --jobs 2 --log-stderr --log-level info "${user[@]}" \
                >/dev/null 2>"$distcc_log.$i" &
            pid=$!
            local waited=0
            while kill -0 "$pid" 2>/dev/null && [[ $waited -lt 50 ]]; do
                if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
                    distcc_pids+=("$pid")
                    DISTCC_HOSTS+="${DISTCC_HOSTS:+ }127.0.0.1:$port/2"
                    break 2
                fi
                sleep 0.1
                waited=$((waited + 1))
            done
            kill "$pid" 2>/dev/null || true
        done
    done
    export DISTCC_HOSTS DISTCC_FALLBACK=0 DISTCC_DIR=$dir/distcc-client
    mkdir -p "$DISTCC_DIR"
    [[ ${#distcc_pids[@]} -eq 2 ]]
}

distcc_stop() {
    local pid
    for pid in "${distcc_pids[@]}"; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    distcc_pids=()
}

# How many compilations a daemon finished.
distcc_jobs() { # 1 or 2
    grep -c 'COMPILE_OK' "$distcc_log.$1"
}
