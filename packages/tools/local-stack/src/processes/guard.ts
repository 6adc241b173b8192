import { spawn } from 'node:child_process';

/** Stops the remaining processes when the launcher is killed. */
export interface Guard {
  /** Sets the processes to stop, in groups. Each group has ended before the next one is stopped. */
  readonly watch: (groups: readonly (readonly number[])[]) => void;
}

// Reads lines like `12 13/14/15`, process ids by group, until the launcher ends. The last line names the processes
// still running. SIGQUIT makes PostgreSQL kill its workers too. It also ends every other process.
const SCRIPT = `
trap '' HUP INT TERM
left=
while read -r line; do left=$line; done
running() { alive=; for pid in $group; do kill -0 "$pid" 2>/dev/null && alive="$alive $pid"; done; group=$alive; [ -n "$group" ]; }
end() {
  for signal in TERM QUIT KILL; do
    for pid in $group; do kill -"$signal" "$pid" 2>/dev/null; done
    for tick in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do running || return; sleep 0.2 2>/dev/null || sleep 1; done
  done
}
IFS=/; set -f; set -- $left; IFS=' '
for group; do end; done
`;

/** Starts a guard: a shell that reads from a pipe. The system closes the pipe when the launcher is killed. */
export const startGuard = (): Guard => {
  const shell = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/' });
  shell.once('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  (shell.stdin as { unref?: () => void }).unref?.();
  return { watch: (groups) => void shell.stdin.write(`${groups.map((pids) => pids.join(' ')).join('/')}\n`) };
};
