import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import pg from 'pg';
import { z } from 'zod';
import { templateOf } from './databases.ts';
import type { ShopName } from './installed.ts';
import { pluginIn } from './plugins.ts';
import { makeShopFolder } from './shop-folder.ts';
import { type ShopProcess, startShopProcess } from './shop-process.ts';

const Setup = z.object({ plugins: z.string(), postgresUrl: z.string(), seeded: z.record(z.string(), z.unknown()) });

const readSetup = () => {
  if (!process.env.SHOPS_SETUP) throw new Error('no shop is set up: run these tests with "npm run test:shops"');
  return Setup.parse(JSON.parse(process.env.SHOPS_SETUP));
};

export interface ShopOptions {
  /** The options of the plugin. Without them, the shop runs without the plugin. */
  readonly plugin?: object | undefined;
  readonly env?: NodeJS.ProcessEnv;
}

export interface RunningShop extends ShopProcess {
  /** For checks that no API of the shop shows. */
  readonly databaseUrl: string;
  /** Starts a second process of the same shop, on the same data. The gateway knows the address of the first one. */
  readonly startAnother: () => Promise<ShopProcess>;
  /** Stops every process of the shop, and removes its data. */
  readonly close: () => Promise<void>;
}

/** What the seed of a shop wrote for the tests. */
export const seededBy = <T>(shop: ShopName, shape: z.ZodType<T>): T => shape.parse(readSetup().seeded[shop]);

/** Makes the folder of a merchant who installed the plugin. */
export const makeFolderWithPlugin = (shop: ShopName): string =>
  makeShopFolder(shop, pluginIn(readSetup().plugins, shop));

/** Starts a shop with a database of its own. `args` start its program in its folder. */
export const startShop = async (
  shop: ShopName,
  args: readonly string[],
  { plugin, env }: ShopOptions,
): Promise<RunningShop> => {
  const { postgresUrl } = readSetup();
  const name = `${shop}_${randomUUID().replaceAll('-', '')}`;
  await inPostgres(postgresUrl, `create database ${name} template ${templateOf(shop)}`);
  const databaseUrl = Object.assign(new URL(postgresUrl), { pathname: `/${name}` }).href;
  const folder = plugin ? makeFolderWithPlugin(shop) : makeShopFolder(shop);
  const program = {
    folder,
    args,
    env: { DATABASE_URL: databaseUrl, ...(plugin && { GATEWAY_PLUGIN: JSON.stringify(plugin) }), ...env },
  };
  const processes = [await startShopProcess(program)];
  return {
    ...processes[0]!,
    databaseUrl,
    startAnother: async () => {
      const env = { ...program.env, SHOP_URL: processes[0]!.baseUrl };
      const another = await startShopProcess({ ...program, env });
      processes.push(another);
      return another;
    },
    close: async () => {
      await Promise.all(processes.map((each) => each.kill()));
      await inPostgres(postgresUrl, `drop database ${name} with (force)`);
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const inPostgres = async (connectionString: string, sql: string): Promise<void> => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(sql).finally(() => client.end());
};
