import { ConfigError } from '../config/config.ts';
import { createLogger } from '../log/logger.ts';
import { createStartupTasks } from './startup.ts';

const log = createLogger({ name: 'test', level: 'silent' });
/** A task that fails with the given errors and then succeeds. `failed` resolves after its first failure. */
const taskOf = (...errors: Error[]) => {
  let onFailed = () => {};
  const failed = new Promise<void>((done) => (onFailed = done));
  const run = async () => {
    const error = errors.shift();
    if (error) setImmediate(onFailed);
    if (error) throw error;
  };
  return { run, failed };
};

test('readiness waits for a task, but not for an optional one', async () => {
  const tasks = createStartupTasks(log);
  const [needed, optional] = [taskOf(new Error('not yet')), taskOf(new Error('not yet'))];
  const optionalDone = tasks.runOptional('optional', optional.run);
  await optional.failed;
  await tasks.check();
  const neededDone = tasks.run('needed', needed.run);
  await expect(tasks.check()).rejects.toThrow('unfinished startup tasks: needed');
  await Promise.all([neededDone, optionalDone]);
  await tasks.check();
});

test('readiness waits for an optional task that needs another configuration', async () => {
  const tasks = createStartupTasks(log);
  const task = taskOf(new ConfigError('too few brokers'));
  const done = tasks.runOptional('topics', task.run);
  await task.failed;
  await expect(tasks.check()).rejects.toMatchObject({
    message: 'unfinished startup tasks: topics',
    cause: { message: 'too few brokers' },
  });
  await done;
  await tasks.check();
});

test('what the operator has to correct is logged once while it stays the same', async () => {
  const lines: string[] = [];
  const tasks = createStartupTasks(
    createLogger({ name: 'test', level: 'info', destination: { write: (line) => void lines.push(line) } }),
  );
  let isReported = false;
  const done = tasks.run('topics', async () => {
    if (isReported) return;
    isReported = lines.length > 0;
    throw new ConfigError('set KAFKA_REPLICATION to 1');
  });
  await expect(done).resolves.toBeUndefined();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('set KAFKA_REPLICATION to 1');
});
