import { randomBytes } from 'node:crypto';
import { AppError } from '@cpg/contracts';
import { base32nopad } from '@scure/base';
import type { DepositNetwork } from '../../addresses/deposit-network.ts';
import { ANY_AMOUNT, type Rail } from '../rail.ts';
import type { ProviderAdapter } from './provider.ts';

export interface HostedOptions {
  /** Of the gateway, which serves the payment pages. */
  readonly publicUrl: string;
  /** The networks where a watcher sees deposits. */
  readonly networks: readonly DepositNetwork[];
  /** Deposits on these networks. */
  readonly deposits: Rail;
}

const REFERENCE_BYTES = 16;

/** `gateway_pay` by this gateway: a payment page with a deposit address of its own per order and network. A reference
 *  is 128 random bits: it belongs to the order that is recorded with it. */
export const hostedProvider = (options: HostedOptions): ProviderAdapter => {
  const pages = paymentPages(options);
  return {
    ...pages,
    name: 'hosted',
    supports: options.deposits.supports,
    requirePayable: options.deposits.requirePayable,
    offerOf: options.deposits.offerOf,
    registerOrder: async (order) => {
      const page = await pages.registerOrder(order);
      // Its network became unavailable meanwhile.
      if (page.deposits?.length === 0)
        throw new AppError('dependency_unavailable', 'no network can take the payment now: retry the request');
      return page;
    },
  };
};

/** The provider of a sandbox. Reports of `/debug` pay its orders; where a watcher sees deposits, they can also be paid
 *  at addresses. */
export const sandboxProvider = (options: HostedOptions): ProviderAdapter => ({
  ...paymentPages(options),
  name: 'sandbox',
  supports: () => true,
  offerOf: async (currency) => ({
    ...ANY_AMOUNT,
    assets: options.deposits.supports(currency) ? (await options.deposits.offerOf(currency)).assets : [],
  }),
});

const paymentPages = ({
  publicUrl,
  networks,
  deposits: { assignInstructions },
}: HostedOptions): Pick<ProviderAdapter, 'registerOrder' | 'newReference'> => {
  const names = networks.map(({ name }) => name);
  const newPage = () => {
    const reference = base32nopad.encode(randomBytes(REFERENCE_BYTES));
    return { reference, paymentUrl: `${publicUrl}/pay/${reference}` };
  };
  return {
    registerOrder: async (order) => {
      if (names.length === 0) return newPage();
      const deposits = (await assignInstructions(order)).flatMap((instruction) => {
        if (instruction.rail !== 'crypto_deposit') return [];
        const { rail: _, currency: __, ...deposit } = instruction;
        return [deposit];
      });
      return { ...newPage(), deposits };
    },
    newReference: () => {
      const { reference, paymentUrl } = newPage();
      return {
        payment_reference: reference,
        payment_url: paymentUrl,
        ...(names.length > 0 && { networks: [...names] }),
      };
    },
  };
};
