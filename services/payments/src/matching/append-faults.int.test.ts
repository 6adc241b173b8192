import { testWithAppendFaults } from '../testing/jest-append-faults.ts';

describe('appends that are written, but answered as timed out', () => testWithAppendFaults('commit-timeout'));
