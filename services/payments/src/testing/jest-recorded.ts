import { join } from 'node:path';
import type { Payment } from '@cpg/contracts';
import { readRecordedVersions } from '@cpg/event-sourcing/testing/recorded-streams';

/** The streams of payments that each release recorded, oldest release first. */
export const streamsByRelease = () => readRecordedVersions<Payment>(join(import.meta.dirname, 'recorded'));
