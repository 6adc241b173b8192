import { join } from 'node:path';
import type { Order } from '@cpg/contracts';
import { readRecordedVersions } from '@cpg/event-sourcing/testing/recorded-streams';

/** The orders that each release recorded. */
export const recordedVersions = () => readRecordedVersions<Order | null>(join(import.meta.dirname, 'recorded'));
