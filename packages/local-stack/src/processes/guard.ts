import { spawn } from 'node:child_process';

/** Ends processes after their launcher, should it go without a word. */
export interface Guard {
  /** The processes to end, in place of those named before: group by group, each one gone before the next is ended. */
  readonly watch: (groups: readonly (readonly number[])[]) => void;
}

// Lines like `12 13/14/15` come in until the launcher is gone, one way or the other; the last one says what it left running.
// SIGQUIT ends PostgreSQL at once together with its workers, and every other process too.
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

/** Starts a guard: a shell that reads from a pipe, which the system closes for a launcher that is killed. */
export const startGuard = (): Guard => {
  const shell = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/' });
  shell.once('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  (shell.stdin as { unref?: () => void }).unref?.();
  return { watch: (groups) => void shell.stdin.write(`${groups.map((pids) => pids.join(' ')).join('/')}\n`) };
};
