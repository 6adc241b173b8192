import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { completeStyles, firstPageBudget } from './build-checks.ts';

/** The gateway that `vite` alone passes requests to. */
const GATEWAY = process.env.GATEWAY_URL ?? 'http://127.0.0.1:4000';

export default defineConfig({
  base: '/dashboard/',
  plugins: [react(), completeStyles(), firstPageBudget({ page: '/pages/home/home-page.tsx', maxBytes: 250_000 })],
  // The gateway replaces it in each answer: services/gateway/src/dashboard.
  html: { cspNonce: 'STYLE-NONCE' },
  build: {
    target: ['es2022', 'safari16'],
    // The policy of the page allows no images and fonts within style sheets but those of `data:` and our own.
    assetsInlineLimit: 0,
    license: { fileName: 'licenses.md' },
    modulePreload: { polyfill: false },
  },
  server: { proxy: Object.fromEntries(['/v1', '/debug', '/pay'].map((path) => [path, GATEWAY])) },
});
