import { execFileSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const SHOPS = ['medusa', 'vendure'] as const;
export type ShopName = (typeof SHOPS)[number];

/** The files of a shop: its packages, its configuration and its seed. */
export const filesOf = (shop: ShopName): string => fileURLToPath(new URL(`../../../shops/${shop}`, import.meta.url));

/** Outside the checkout: shops are large, and all checkouts of a machine share them. */
export const cacheFolder = (): string =>
  process.env.SHOPS_CACHE || join(homedir(), '.cache', 'crypto-payment-gateway', 'shops');

/** The folder with the packages of a shop, whether they are installed or not. */
export const installationOf = (shop: ShopName): string =>
  join(cacheFolder(), `${shop}-${hashOf([join(filesOf(shop), 'package-lock.json')])}`);

export const isInstalled = (shop: ShopName): boolean => existsSync(installationOf(shop));

/** Installs a shop, unless it is installed. A run that dies leaves nothing that looks installed. Throws if npm
 *  fails. */
export const installShop = (shop: ShopName): void => {
  if (isInstalled(shop)) return;
  console.log(`installing ${shop}: this takes a minute or two, once`);
  const target = installationOf(shop);
  const unfinished = `${target}.${randomUUID()}`;
  mkdirSync(unfinished, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) cpSync(join(filesOf(shop), name), join(unfinished, name));
  try {
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    execFileSync('npm', args, { cwd: unfinished, stdio: ['ignore', 'inherit', 'inherit'] });
    moveTo(unfinished, target);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
};

/** Renames a folder, unless another run was first. */
export const moveTo = (folder: string, target: string): void => {
  mkdirSync(dirname(target), { recursive: true });
  try {
    renameSync(folder, target);
  } catch (error) {
    if (!existsSync(target)) throw error;
  }
};

export const hashOf = (files: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
};

/** The files on which the data of a shop depends: all beside its own code in `src`. */
export const seedFilesOf = (shop: ShopName): string[] =>
  readdirSync(filesOf(shop), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => join(filesOf(shop), name))
    .sort();
