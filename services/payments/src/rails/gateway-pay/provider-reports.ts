import type { OutsideProvider } from './provider.ts';
import { receiveCallbacks } from './callbacks.ts';
import { lastQueries } from './last-queries.ts';
import { type LostCallbacksOptions, startLostCallbacks } from './lost-callbacks.ts';
import { queryProvider } from './query-provider.ts';
import { recordReports } from './reported-payment.ts';

export interface ProviderReportsOptions extends Omit<LostCallbacksOptions, 'query'> {
  readonly providers: readonly OutsideProvider[];
  readonly register: Parameters<typeof recordReports>[0]['register'];
  readonly metrics: Parameters<typeof receiveCallbacks>[0]['metrics'];
}

/** How payments learns of the payments of outside providers: by their callbacks, and by queries, the last one before
 *  an order ends. */
export const providerReports = ({ register, metrics, ...options }: ProviderReportsOptions) => {
  const { providers, log } = options;
  const record = recordReports({ register, log });
  const query = queryProvider({ record, log });
  return {
    receiveCallback: receiveCallbacks({ providers, record, metrics }),
    askLast: lastQueries({ providers, query, log }),
    /** Starts the queries, if there is a provider to ask. `stop` ends them and closes the connections. */
    startQueries: (leader: { readonly url: string; readonly waitUntilReady: () => Promise<void> }) => {
      const queries = providers.length === 0 ? null : startLostCallbacks({ ...options, ...leader, query });
      return {
        stop: async () => {
          await queries?.stop();
          await Promise.all(providers.map(({ close }) => close()));
        },
      };
    },
  };
};
