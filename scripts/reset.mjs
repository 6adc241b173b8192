import { setUp } from './setup.mjs';

await setUp();
await import('../packages/tools/local-stack/dist/reset.js');
