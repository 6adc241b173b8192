import { type Availability, isAppError, PaymentCurrency, type PaymentRail } from '@cpg/contracts';
import type { NetworkAvailability } from '../chains/network-availability.ts';
import type { Rails } from './instructions.ts';
import type { Rail } from './rail.ts';

/** What new orders can be paid with now. */
export const availabilityOf =
  (rails: Rails, readNetworks: NetworkAvailability['read']) => async (): Promise<Availability> => {
    const networks = [...(await readNetworks())].flatMap(([name, state]) =>
      state.isAvailable ? [[name, Math.ceil(state.forMs)] as const] : [],
    );
    const currencies = Object.entries(rails).map(async ([name, rail]) => [name, await currenciesOf(rail)] as const);
    return {
      networks: Object.fromEntries(networks),
      currencies: Object.fromEntries(await Promise.all(currencies)) as Record<PaymentRail, PaymentCurrency[]>,
    };
  };

const currenciesOf = async (rail: Rail): Promise<PaymentCurrency[]> => {
  const areAvailable = await Promise.all(PaymentCurrency.options.map((currency) => isAvailable(rail, currency)));
  return PaymentCurrency.options.filter((_, n) => areAvailable[n]);
};

const isAvailable = async (rail: Rail, currency: PaymentCurrency): Promise<boolean> => {
  if (!rail.supports(currency)) return false;
  try {
    await rail.requirePayable({ currency });
    return true;
  } catch (error) {
    if (isAppError(error, 'network_unavailable')) return false;
    throw error;
  }
};
