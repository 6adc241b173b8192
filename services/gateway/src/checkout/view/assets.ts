import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { EncodedBody } from '../../door/responses/compression.ts';

/** A file that pages load. Its name contains a hash of its content, so browsers keep it. */
export interface PageAsset extends EncodedBody {
  readonly path: string;
  readonly type: string;
}

const HASH_DIGITS = 16;

export const ASSETS_PATH = '/pay/assets';

const TYPES = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  png: 'image/png',
} as const;

/** Names, hashes and compresses a file once. */
const pageAsset = (name: string, extension: keyof typeof TYPES, body: Buffer): PageAsset => {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, HASH_DIGITS);
  return {
    path: `${ASSETS_PATH}/${name}-${hash}.${extension}`,
    type: TYPES[extension],
    body,
    encoded: { br: brotliCompressSync(body), gzip: gzipSync(body) },
  };
};

export interface PageAssets {
  readonly style: PageAsset;
  readonly script: PageAsset;
  readonly icon: PageAsset;
}

const STYLES = ['page.css', 'shop.css', 'claim.css', 'strip.css'];

const fileBeside = (name: string): Buffer => readFileSync(new URL(name, import.meta.url));

/** `script` is the bundle of browser/page.ts, which exists once the gateway is built. */
export const readPageAssets = (script: Buffer): PageAssets => ({
  style: pageAsset('page', 'css', Buffer.concat(STYLES.map(fileBeside))),
  script: pageAsset('page', 'js', script),
  icon: pageAsset('icon', 'png', fileBeside('icon.png')),
});
