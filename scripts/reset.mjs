import { setUp } from './setup.mjs';

await setUp();
await import('../packages/local-stack/dist/reset.js');
