import { createLogger, type Logger, type LoggerOptions } from '../log/logger.ts';
import { createOutages, type Outages } from './outages.ts';

/** The log of a service, and the outages that it reports there. */
export const createServiceLog = (options: Omit<LoggerOptions, 'reportOutage'>): { log: Logger; outages: Outages } => {
  const log = createLogger({ ...options, reportOutage: (error) => outages.failed(error) });
  const outages = createOutages(log);
  return { log, outages };
};
