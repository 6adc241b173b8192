import { spawn } from 'node:child_process';

/** Ends processes after their launcher, should it go without a word. */
export interface Guard {
  /** The processes to end, in place of those named before. */
  readonly watch: (pids: readonly number[]) => void;
}

// Lines of process ids come in until the launcher is gone, one way or the other; the last line says what it left running.
// SIGTERM lets PostgreSQL wait for its sessions to end, SIGQUIT ends it at once with its workers.
const SCRIPT = `
trap '' HUP INT TERM
left=
while read -r line; do left=$line; done
running() { alive=; for pid in $left; do kill -0 "$pid" 2>/dev/null && alive="$alive $pid"; done; left=$alive; [ -n "$left" ]; }
for signal in TERM QUIT KILL; do
  for pid in $left; do kill -"$signal" "$pid" 2>/dev/null; done
  for second in 1 2 3 4 5; do running || exit 0; sleep 1; done
done
`;

/** Starts a guard: a shell that reads from a pipe, which the system closes for a launcher that is killed. */
export const startGuard = (): Guard => {
  const shell = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true, cwd: '/' });
  shell.once('error', () => {});
  shell.stdin.on('error', () => {});
  shell.unref();
  (shell.stdin as { unref?: () => void }).unref?.();
  return { watch: (pids) => void shell.stdin.write(`${pids.join(' ')}\n`) };
};
