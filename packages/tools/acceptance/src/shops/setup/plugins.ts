import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ShopName, SHOPS } from './installed.ts';

const sourceOf = (shop: ShopName): string => fileURLToPath(new URL(`../../../../../shops/${shop}`, import.meta.url));

/** Packs each plugin as a release does, and unpacks its file into `folder`. Runs no script of npm: the plugins have to
 *  be built before. */
export const unpackPlugins = (folder: string): void => {
  for (const shop of SHOPS) {
    const target = join(folder, shop);
    mkdirSync(target, { recursive: true });
    execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', target], {
      cwd: sourceOf(shop),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [file] = readdirSync(target).filter((name) => name.endsWith('.tgz'));
    execFileSync('tar', ['-xzf', file!], { cwd: target });
  }
};

/** The folder of an unpacked plugin. */
export const pluginIn = (folder: string, shop: ShopName): string => join(folder, shop, 'package');
