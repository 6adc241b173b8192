import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { waitUntil } from './process-table.ts';
import { type Program, restartDelayMs, supervise, type Supervised } from './supervisor.ts';

const running: Supervised[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((supervised) => supervised.stop(1_000)));
});

/** A process that runs `code`. */
const program = (code: string): Program => ({
  name: 'fixture',
  launch: async (onSpawn) => {
    const child = spawn(process.execPath, ['-e', `${code}; process.stdout.write('up')`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onSpawn(child);
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  },
});

const watch = (what: Program, delayMs?: (crashes: number) => number) => {
  const warnings: string[] = [];
  const pids: (number | null)[] = [];
  const supervised = supervise(what, {
    warn: (sentence) => warnings.push(sentence),
    onPidChange: (pid) => pids.push(pid),
    ...(delayMs && { delayMs }),
  });
  running.push(supervised);
  return { supervised, warnings, pids };
};

const RUNS_FOREVER = 'setInterval(() => {}, 1000)';

test('restarts a killed process', async () => {
  const { supervised, warnings, pids } = watch(program(RUNS_FOREVER));
  await supervised.started;
  const first = supervised.pid() ?? 0;
  process.kill(first, 'SIGKILL');
  expect(await waitUntil(() => ![null, first].includes(supervised.pid()), 5_000)).toBe(true);
  expect(warnings).toEqual(['fixture was killed by SIGKILL; restarting it in 100 ms']);
  await waitUntil(() => pids.length === 3, 1_000);
  expect(pids).toEqual([first, null, supervised.pid()]);
});

test('waits longer after each crash, and gives the reason', async () => {
  const { warnings } = watch(program('process.exit(7)'), (crashes) => crashes * 10);
  await waitUntil(() => warnings.length === 3, 10_000);
  expect(warnings.slice(0, 3).map((line) => / (\d+) ms$/.exec(line)?.[1])).toEqual(['10', '20', '30']);
  expect(warnings[0]).toMatch(/fixture exited (with code 7|during its start)/);
});

test('doubles the restart delay from 100 ms up to 5 s', () =>
  expect([1, 2, 3, 6, 7, 50].map(restartDelayMs)).toEqual([100, 200, 400, 3_200, 5_000, 5_000]));

test('stopping lets the process finish and does not restart it', async () => {
  const { supervised, warnings } = watch(
    program(`process.on('SIGTERM', () => setTimeout(() => process.exit(0), 100)); ${RUNS_FOREVER}`),
  );
  await supervised.started;
  await supervised.stop(5_000);
  expect(supervised.pid()).toBeNull();
  expect(warnings).toEqual([]);
});

test('kills a process that does not stop in time', async () => {
  const { supervised, warnings } = watch(program(`process.on('SIGTERM', () => {}); ${RUNS_FOREVER}`));
  await supervised.started;
  await supervised.stop(200);
  expect(supervised.pid()).toBeNull();
  expect(warnings).toEqual(['fixture did not stop in time and was killed']);
});

test('stopping during a restart delay leaves nothing running', async () => {
  const { supervised, warnings } = watch(program('process.exit(1)'), () => 300);
  await waitUntil(() => warnings.length === 1, 5_000);
  await supervised.stop(1_000);
  expect(await waitUntil(() => supervised.pid() !== null, 500)).toBe(false);
});

test('reports a failed first start to the caller and does not retry it', async () => {
  const { supervised, warnings } = watch({
    name: 'fixture',
    launch: () => Promise.reject(new Error('no such program')),
  });
  await expect(supervised.started).rejects.toThrow('no such program');
  expect(warnings).toEqual([]);
});
