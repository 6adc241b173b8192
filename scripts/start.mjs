import { setUp } from './setup.mjs';

await setUp();
// The launcher takes over this very process: signals reach it without anybody between.
await import('../packages/local-stack/dist/main.js');
