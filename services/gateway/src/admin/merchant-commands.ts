import { readFile } from 'node:fs/promises';
import { CreateMerchantDto, exampleOf } from '@cpg/contracts';
import { type AdminCommand, CommandError, type RunWith } from '@cpg/platform/commands';
import { MERCHANT, pretty, readJson, type Signature } from './command.ts';
import type { KeyAdmin } from './keys.ts';
import {
  updateMerchant,
  createMerchant,
  merchantTable,
  setMerchantStatus,
  setPaymentPage,
  showMerchant,
  showPaymentPage,
} from './merchants.ts';

/** Adds the commands on merchants and the look of their payment pages. */
export const addMerchantCommands = (program: AdminCommand, withAdmin: RunWith<KeyAdmin>): void => {
  const merchants = program.command('merchants').description('merchants of this gateway');
  merchants
    .command('create')
    .description('create a merchant from JSON')
    .requiredOption('--file <file>', 'a JSON file, or - for standard input')
    .examples('merchants create --file merchant.json')
    .addHelpText(
      'after',
      `\nThe file, with the fields that are required and some that are not:\n${pretty(exampleOf(CreateMerchantDto))}`,
    )
    .runs(({ file }: { file: string }) =>
      withAdmin(async ({ pool, now }) => pretty(await createMerchant(pool, await readJson(file), now()))),
    );
  merchants
    .command('list')
    .description('list all merchants')
    .examples('merchants list')
    .runs(() => withAdmin(({ pool }) => merchantTable(pool)));
  merchants
    .command('show')
    .description('print a merchant, and who disabled or enabled it')
    .argument(...MERCHANT)
    .examples('merchants show mer_01J8…')
    .runs((merchant: string) => withAdmin(async ({ pool }) => pretty(await showMerchant(pool, merchant))));
  merchants
    .command('update')
    .description('replace the given fields; null removes a field')
    .argument(...MERCHANT)
    .requiredOption('--file <file>', 'a JSON file with the fields, or - for standard input')
    .examples('merchants update mer_01J8… --file changes.json')
    .runs((merchant: string, { file }: { file: string }) =>
      withAdmin(async ({ pool, now }) => pretty(await updateMerchant(pool, merchant, await readJson(file), now()))),
    );
  for (const [verb, status, effect] of [
    ['disable', 'disabled', 'refuse all keys of a merchant within seconds; payments that arrive are still recorded'],
    ['enable', 'active', 'accept the keys of a disabled merchant again'],
  ] as const)
    merchants
      .command(verb)
      .description(effect)
      .argument(...MERCHANT)
      .requiredOption('--by <person>', 'who decides it')
      .requiredOption('--reason <text>', 'why, for auditors')
      .examples(`merchants ${verb} mer_01J8… --by Ana --reason "ticket 7"`)
      .runs((merchant: string, signature: Signature) =>
        withAdmin(async ({ pool, now }) => {
          await setMerchantStatus(pool, merchant, { status, at: now(), ...signature });
          return `merchant ${merchant} is ${status}`;
        }),
      );

  const page = program.command('payment-page').description('how the payment page looks for a merchant');
  page
    .command('show')
    .description('print how it looks')
    .argument(...MERCHANT)
    .examples('payment-page show mer_01J8…')
    .runs((merchant: string) => withAdmin(async ({ pool }) => pretty(await showPaymentPage(pool, merchant))));
  page
    .command('set')
    .description('replace how it looks')
    .argument(...MERCHANT)
    .requiredOption(
      '--file <file>',
      'a JSON file with the fields of PUT /v1/merchants/me/payment-page, or - for standard input',
    )
    .option('--logo <file>', 'a PNG, JPEG or WebP image')
    .examples('payment-page set mer_01J8… --file page.json --logo logo.png')
    .runs((merchant: string, { file, logo }: { file: string; logo?: string }) =>
      withAdmin(async (admin) => {
        const image = logo === undefined ? {} : { logo: (await readImage(logo)).toString('base64') };
        return pretty(await setPaymentPage(admin, merchant, { ...((await readJson(file)) as object), ...image }));
      }),
    );
};

const readImage = (file: string): Promise<Buffer> =>
  readFile(file).catch((error: Error) => {
    throw new CommandError(`cannot read ${file}: ${error.message}`);
  });
