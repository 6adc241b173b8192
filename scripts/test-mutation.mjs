import { setUp } from './setup.mjs';

await setUp();
await import('../packages/tools/mutation/dist/main.js');
