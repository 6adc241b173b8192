import { HELP, readArguments } from './arguments.ts';
import { banner } from './banner.ts';
import { LaunchError } from './launch-error.ts';
import { createLineWriter } from './log/line-writer.ts';
import { GroupStoppedError } from './processes/group.ts';
import { createStack } from './stack.ts';
import { runUntilSignal } from './stop-signals.ts';

const print = createLineWriter(process.stdout);

/** Runs the stack until a signal arrives. Resolves to the exit code. */
const main = async (): Promise<number> => {
  const { help, dispatchers } = readArguments(process.argv.slice(2));
  if (help) {
    print(HELP);
    return 0;
  }
  const colour = process.stdout.isTTY && !process.env.NO_COLOR;
  const stack = createStack({ dispatchers, colour, log: print });
  const ended = runUntilSignal({
    stop: async () => {
      print('\nstopping; press Ctrl-C again to kill all processes');
      await stack.stop();
      print('stopped');
    },
    kill: stack.kill,
  });
  const startedAt = Date.now();
  try {
    print(banner(await stack.start(), (Date.now() - startedAt) / 1000));
  } catch (error) {
    // A signal arrived during the start, so `ended` gives the exit code.
    if (!(error instanceof GroupStoppedError)) throw error;
  }
  return ended;
};

try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`${error instanceof LaunchError ? error.message : (error as Error).stack}\n`);
}
process.exit();
