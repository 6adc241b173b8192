import { testWithAppendFaults } from './testing/jest-append-faults.ts';

describe('appends that are written, but not answered', () => testWithAppendFaults('unanswered'));
