import { join } from 'node:path';
import type { Payment } from '@cpg/contracts';
import { readRecordedVersions } from '@cpg/event-sourcing/testing/recorded-streams';

/** The payments that each release recorded. */
export const recordedVersions = () => readRecordedVersions<Payment>(join(import.meta.dirname, 'recorded'));
