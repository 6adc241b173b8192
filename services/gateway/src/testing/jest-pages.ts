import { exampleOf, type Order, type PageDeposit, Payment, type PaymentPageAddresses } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import type { TestGateway, TestMerchant } from './jest-gateway.ts';
import { orderOf, projectOrder } from './jest-resources.ts';
import { errorResponse } from './jest-stub-service.ts';

const payment = exampleOf(Payment);

/** A deposit as payments answers it. */
const EXAMPLE_DEPOSIT: PageDeposit = {
  rail: 'gateway_pay',
  network: 'base',
  chain_id: 'eip155:8453',
  asset: 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  address: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
  decimals: 6,
  required_confirmations: 12,
};

/** Makes the payments stub know the returned pages. It answers other calls with a payment. */
export const paymentPages = (gateway: TestGateway, merchant: TestMerchant) => {
  const pages = new Map<string, PaymentPageAddresses>();
  gateway.payments.respond = ({ path }) => {
    if (!path.startsWith('/pages/')) return { status: 201, body: { payment, order: null } };
    const page = pages.get(decodeURIComponent(path.split('/').at(-1)!));
    return page ? { status: 200, body: page } : errorResponse(404, 'not_found');
  };
  /** An order with a page, and its reference. */
  return async (more: Partial<Order> = {}) => {
    const order = orderOf(newId('order'), merchant.id, more);
    const reference = order.id.slice(4);
    pages.set(reference, { order_id: order.id, merchant_id: merchant.id, deposits: [EXAMPLE_DEPOSIT] });
    await projectOrder(gateway.pool, order);
    return { order, reference };
  };
};
