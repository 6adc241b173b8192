import { manifest, run, setUp } from './setup.mjs';

// What an event store passes, whichever it is: against the server that EVENTSTORE_URL names, or an embedded one for each file.
await setUp();
const [, ...jest] = manifest.scripts.jest.split(' ');
const more = process.argv.slice(2).map((pattern) => `--testNamePattern=${pattern}`);
const args = [
  '--selectProjects',
  'integration',
  '--testPathPatterns=packages/embedded-eventstore/src/conformance',
  ...more,
];
process.exitCode = await run(process.execPath, [...jest, ...args]);
