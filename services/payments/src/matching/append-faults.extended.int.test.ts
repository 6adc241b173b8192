import { testWithAppendFaults } from '../testing/jest-append-faults.ts';

describe('appends that are written, but not answered', () => testWithAppendFaults('unanswered'));
describe('appends that a server refuses because it is not ready', () => testWithAppendFaults('not-ready'));
