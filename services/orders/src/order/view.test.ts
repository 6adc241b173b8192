import type { AssignedInstruction } from '@cpg/contracts';
import { after, existing } from '../testing/jest-deciding.ts';
import { createOrder } from '../testing/orders.ts';
import { orderView } from './view.ts';

const ADDRESS = '0x9858EfFD232B4033E47d90003D41EC34EcaEda94';
const CONTRACT = '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d';

const deposit: AssignedInstruction = {
  rail: 'crypto_deposit',
  currency: 'USDC',
  network: 'bnb',
  chainId: 'eip155:56',
  asset: `eip155:56/erc20:${CONTRACT}`,
  address: ADDRESS,
  decimals: 18,
  currencyDecimals: 6,
  requiredConfirmations: 15,
  derivation: { fingerprint: '73c5da0a', path: '0/0' },
};

const instructionOf = (instruction: AssignedInstruction, totalMinor: bigint) => {
  const order = after(createOrder({ rails: ['crypto_deposit'], instructions: [instruction], totalMinor }));
  return orderView(existing(order)).deposit_instructions[0];
};

test('asks for the units of the asset where its decimals are not those of the currency', () => {
  expect(instructionOf(deposit, 25_500_000n)).toMatchObject({
    amount: '25.500000',
    amount_units: '25500000000000000000',
    decimals: 18,
    payment_uri: `ethereum:${CONTRACT}@56/transfer?address=${ADDRESS}&uint256=25500000000000000000`,
  });
});

test('asks for minor units where the instruction of an earlier version names no decimals of the currency', () => {
  const { currencyDecimals: _, ...earlier } = { ...deposit, decimals: 6 };
  expect(instructionOf(earlier, 25_500_000n)).toMatchObject({
    amount: '25.500000',
    amount_units: '25500000',
    payment_uri: expect.stringMatching(/uint256=25500000$/),
  });
});
