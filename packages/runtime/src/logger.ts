import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

const REDACTED_FIELDS = [
  'authorization',
  'x-api-key',
  'x-signature',
  'webhook-signature',
  'cookie',
  'api_key',
  'apiKey',
  'secret',
  'password',
  'token',
];

export interface LoggerOptions {
  readonly name: string;
  readonly level: string;
  /** Reports an error to the service's outages. Lines from `warn` on whose `err` is part of an outage become debug
   *  lines: the outage has its own two lines. */
  readonly reportOutage?: (error: unknown) => boolean;
  /** Default: standard output. */
  readonly destination?: DestinationStream;
}

/** Logs one JSON object per line. Redacts API keys, secrets, tokens and signatures. */
export const createLogger = ({ name, level, reportOutage, destination }: LoggerOptions): Logger =>
  pino(
    {
      name,
      level,
      base: { name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: pino.stdSerializers.err, error: pino.stdSerializers.err },
      redact: {
        paths: REDACTED_FIELDS.flatMap((key) => [`["${key}"]`, `*["${key}"]`, `*.headers["${key}"]`]),
        censor: '[redacted]',
      },
      ...(reportOutage && {
        hooks: {
          logMethod(args, method, levelNumber) {
            const { err } = (args[0] ?? {}) as { err?: unknown };
            const isOutage = levelNumber >= pino.levels.values.warn! && err !== undefined && reportOutage(err);
            if (isOutage) this.debug(...args);
            else method.apply(this, args);
          },
        },
      }),
    },
    destination,
  );
