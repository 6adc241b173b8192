import { testWithAppendFaults } from './testing/jest-append-faults.ts';

describe('appends that are written, but answered as timed out', () => testWithAppendFaults('commit-timeout'));
describe('appends that a server refuses because it is not ready', () => testWithAppendFaults('not-ready'));
