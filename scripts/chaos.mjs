import { importBuilt, setUp } from './setup.mjs';

await setUp();
await importBuilt('packages/tools/acceptance/dist/chaos.js');
