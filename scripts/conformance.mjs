import { manifest, run, setUp } from './setup.mjs';

// Runs the conformance tests against the event store at EVENTSTORE_URL, or against an embedded one per test file.
await setUp();
const [, ...jest] = manifest.scripts.jest.split(' ');
const namePatterns = process.argv.slice(2).map((pattern) => `--testNamePattern=${pattern}`);
const args = [
  '--selectProjects',
  'integration',
  'extended-integration',
  '--testPathPatterns=packages/engines/embedded-eventstore/src/conformance',
  ...namePatterns,
];
process.exitCode = await run(process.execPath, [...jest, ...args]);
