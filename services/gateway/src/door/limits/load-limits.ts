import { createConcurrencyLimit, type LoadLimits } from '@cpg/platform';

/** The limits of the requests in progress, one for each class. Creates are refused first: they get the lower limit and
 *  the shorter latency. */
export const createLoadLimits = (): LoadLimits => ({
  create: createConcurrencyLimit(),
  normal: createConcurrencyLimit({ targetMs: NORMAL_TARGET_MS, initial: NORMAL_INITIAL, min: NORMAL_MIN }),
  page: createConcurrencyLimit({ targetMs: NORMAL_TARGET_MS, initial: 256, min: 64 }),
  callback: createConcurrencyLimit({ targetMs: NORMAL_TARGET_MS }),
  keyless: createConcurrencyLimit({ targetMs: NORMAL_TARGET_MS }),
});

// Lists with many pages and exports take longer than a create.
const NORMAL_TARGET_MS = 1_000;
const NORMAL_INITIAL = 512;
const NORMAL_MIN = 128;
