import { HELP, readArguments } from './arguments.ts';
import { banner } from './banner.ts';
import { LaunchError } from './launch-error.ts';
import { lineOutput } from './log/output.ts';
import { GroupStopped } from './processes/group.ts';
import { createStack } from './stack.ts';
import { onEnd } from './stop-signals.ts';

const print = lineOutput(process.stdout);

/** Runs the stack until a signal; the exit code. */
const main = async (): Promise<number> => {
  const { help, dispatchers } = readArguments(process.argv.slice(2));
  if (help) {
    print(HELP);
    return 0;
  }
  const colour = process.stdout.isTTY && !process.env.NO_COLOR;
  const stack = createStack({ dispatchers, colour, log: print });
  const ended = onEnd({
    politely: async () => {
      print('\nstopping; once more to end at once');
      await stack.stop();
      print('stopped');
    },
    atOnce: stack.kill,
  });
  const began = Date.now();
  try {
    print(banner(await stack.start(), (Date.now() - began) / 1000));
  } catch (error) {
    // A signal came first: it decides how this ends.
    if (!(error instanceof GroupStopped)) throw error;
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
