import { ConfigError, FatalStartError } from '../config/config.ts';
import type { Logger } from '../log/logger.ts';

const SHUTDOWN_TIMEOUT_MS = 9_000;

interface RunningService {
  readonly log: Logger;
  /** Steps of the shutdown, in order: first those that stop accepting work, last those that close connections. */
  readonly close: ReadonlyArray<() => unknown>;
}

/** Starts a service and stops it on SIGTERM or SIGINT: runs the `close` steps in order, once, and exits with 0.
 *  Exits with 1 after 9 s. A signal during the start exits at once. A failed start prints one message and exits with
 *  1. */
export const runService = async (start: () => Promise<RunningService>): Promise<void> => {
  let service: RunningService | undefined;
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (!service) process.exit(0);
    if (stopping) return;
    stopping = true;
    void stop(service, signal);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  try {
    service = await start();
  } catch (error) {
    exitWithStartError(error);
  }
};

/** Prints one message about a failed start and exits with 1. */
export const exitWithStartError = (error: unknown): never => {
  process.stderr.write(`${startErrorMessage(error)}\n`);
  process.exit(1);
};

const stop = async ({ log, close }: RunningService, signal: string): Promise<void> => {
  log.info({ signal }, 'stopping');
  setTimeout(() => {
    log.error({ timeoutMs: SHUTDOWN_TIMEOUT_MS }, 'shutdown timed out');
    process.exit(1);
  }, SHUTDOWN_TIMEOUT_MS).unref();
  for (const step of close) {
    try {
      await step();
    } catch (error) {
      log.warn({ err: error }, 'a shutdown step failed');
    }
  }
  log.info('stopped');
  process.exit(0);
};

const startErrorMessage = (error: unknown): string => {
  if (error instanceof ConfigError || error instanceof FatalStartError) return error.message;
  const { code, port } = error as { code?: string; port?: number };
  if (code === 'EADDRINUSE') return `port ${port} is in use: set PORT to a free port (with npm start: PORT_OFFSET)`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
};
