import type { OutsideProvider } from './provider.ts';
import { receiveCallbacks } from './callbacks.ts';
import { type LostCallbacksOptions, startLostCallbacks } from './lost-callbacks.ts';
import { recordReports } from './reported-payment.ts';

export interface ProviderReportsOptions extends Omit<LostCallbacksOptions, 'record'> {
  readonly providers: readonly OutsideProvider[];
  readonly register: Parameters<typeof recordReports>[0]['register'];
  readonly metrics: Parameters<typeof receiveCallbacks>[0]['metrics'];
}

/** How payments learns of the payments of outside providers: by their callbacks, and by queries. */
export const providerReports = ({ register, metrics, ...options }: ProviderReportsOptions) => {
  const { providers, log } = options;
  const record = recordReports({ register, log });
  return {
    receiveCallback: receiveCallbacks({ providers, record, metrics }),
    /** Starts the queries, if there is a provider to ask. `stop` ends them and closes the connections. */
    startQueries: (leader: { readonly url: string; readonly waitUntilReady: () => Promise<void> }) => {
      const queries = providers.length === 0 ? null : startLostCallbacks({ ...options, ...leader, record });
      return {
        stop: async () => {
          await queries?.stop();
          await Promise.all(providers.map(({ close }) => close()));
        },
      };
    },
  };
};
