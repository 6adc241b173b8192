import { readAssets } from '@cpg/assets';
import { readAccountKey } from './account-key.ts';
import { bitcoinAddress, evmAddress, withAccount } from './deposit-network.ts';

const sandbox = readAssets({ ENVIRONMENT: 'sandbox' });
const accounts = sandbox.networks.map(({ xpub }) => readAccountKey(xpub!));

test('an address depends on the account, the index and the kind of network, also when it is asked for again', () => {
  for (const network of sandbox.networks)
    for (const account of accounts)
      for (const index of [0, 1, 1, 0]) {
        const key = account.receiving(index);
        expect(withAccount(sandbox, network, account).addressAt(index)).toBe(
          network.kind === 'evm' ? evmAddress(key) : bitcoinAddress(key, network.chain),
        );
      }
});
