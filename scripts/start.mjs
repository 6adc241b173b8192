import { importBuilt, setUp } from './setup.mjs';

await setUp();
// The launcher runs in this process, so that signals reach it directly.
await importBuilt('packages/tools/local-stack/dist/main.js');
