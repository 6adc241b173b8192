import type { Logger } from 'pino';
import { ConfigError } from './config.ts';

const STOP_WITHIN_MS = 9_000;

/** Runs a service: SIGTERM or SIGINT closes what `start` opened, in that order, once, and exits 0 within 10 s.
 *  A fault at start is one clear line and exit code 1. */
export const runService = async (
  start: () => Promise<{ log: Logger; close: ReadonlyArray<() => unknown> }>,
): Promise<void> => {
  try {
    const { log, close } = await start();
    let stopping = false;
    const stop = async (signal: string) => {
      if (stopping) return;
      stopping = true;
      log.info({ signal }, 'stopping');
      setTimeout(() => {
        log.error('did not stop in time');
        process.exit(1);
      }, STOP_WITHIN_MS).unref();
      for (const step of close) {
        try {
          await step();
        } catch (error) {
          log.warn({ err: error }, 'a step of stopping failed');
        }
      }
      log.info('stopped');
      process.exit(0);
    };
    process.on('SIGTERM', (signal) => void stop(signal));
    process.on('SIGINT', (signal) => void stop(signal));
  } catch (error) {
    process.stderr.write(`${startFault(error)}\n`);
    process.exit(1);
  }
};

const startFault = (error: unknown): string => {
  if (error instanceof ConfigError) return error.message;
  const { code, port } = error as { code?: string; port?: number };
  if (code === 'EADDRINUSE') return `port ${port} is taken: set PORT (with npm start: PORT_OFFSET) to a free one`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
};
