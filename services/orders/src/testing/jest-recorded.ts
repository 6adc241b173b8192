import { join } from 'node:path';
import type { Order } from '@cpg/contracts';
import { readRecordedVersions } from '@cpg/event-sourcing/testing/recorded-streams';

/** The streams of orders that each release recorded, oldest release first. */
export const streamsByRelease = () => readRecordedVersions<Order | null>(join(import.meta.dirname, 'recorded'));
