import { HELP, parseArguments } from './arguments.ts';
import { banner } from './banner.ts';
import { createPaymentLink } from './payment-link.ts';
import { LaunchError } from './launch-error.ts';
import { createLineWriter } from './log/line-writer.ts';
import { GroupStoppedError } from './processes/group.ts';
import { createStack } from './stack.ts';
import { runUntilSignal } from './stop-signals.ts';

const print = createLineWriter(process.stdout);
const printError = (error: unknown) =>
  process.stderr.write(`${error instanceof LaunchError ? error.message : (error as Error).stack}\n`);

/** Runs the stack until a signal arrives. Resolves to the exit code. */
const main = async (): Promise<number> => {
  const { help, scale } = parseArguments(process.argv.slice(2));
  if (help) {
    print(HELP);
    return 0;
  }
  const colour = process.stdout.isTTY && !process.env.NO_COLOR;
  const stack = createStack({ scale, colour, log: print });
  const stop = async () => {
    print('\nstopping; press Ctrl-C again to kill all processes');
    try {
      await stack.stop();
    } catch (error) {
      printError(error);
      throw error;
    }
    print('stopped');
  };
  const exitCode = runUntilSignal({ stop, kill: stack.kill });
  const startedAt = performance.now();
  try {
    const runningStack = await stack.start();
    const startupSeconds = (performance.now() - startedAt) / 1000;
    const paymentLink = process.env.DEMO_ORDER === 'off' ? null : await createPaymentLink(runningStack);
    print(banner(runningStack, startupSeconds, paymentLink));
  } catch (error) {
    // A signal stopped the stack while it was starting. That is not an error: `exitCode` resolves once it has stopped.
    if (!(error instanceof GroupStoppedError)) throw error;
  }
  return exitCode;
};

try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = 1;
  printError(error);
}
// Open handles would keep the process running.
process.exit();
