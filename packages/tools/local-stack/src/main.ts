import { whenNpmEnds } from '@cpg/platform';
import { HELP, parseArguments } from './arguments.ts';
import { banner, createPaymentLink } from './banner.ts';
import { LaunchError } from './config.ts';
import { createLineWriter } from './log-lines.ts';
import { GroupStoppedError } from './processes/group.ts';
import { createStack } from './stack.ts';

const STOP_TIMEOUT_MS = 9_500;
// Ctrl-C reaches the whole process group, and npm passes it on again. Signals within this time count as one.
const SAME_SIGNAL_MS = 500;

/** Calls `stop` on SIGINT, SIGTERM or SIGHUP, or when npm exits. Resolves to the exit code: 0 after `stop`.
 *  A second signal calls `kill` and gives 130. After 9.5 s or a failed `stop` it calls `kill` and gives 1. */
const runUntilSignal = ({ stop, kill }: { stop: () => Promise<void>; kill: () => void }): Promise<number> =>
  new Promise((done) => {
    let signalledAt: number | null = null;
    const killAndExit = (code: number) => {
      kill();
      done(code);
    };
    const onSignal = () => {
      if (signalledAt !== null) {
        if (performance.now() - signalledAt > SAME_SIGNAL_MS) killAndExit(130);
        return;
      }
      signalledAt = performance.now();
      stopWatching();
      setTimeout(killAndExit, STOP_TIMEOUT_MS, 1).unref();
      stop().then(
        () => done(0),
        () => killAndExit(1),
      );
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
    const stopWatching = whenNpmEnds(onSignal);
  });

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
