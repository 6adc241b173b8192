import { MerchantCreateOrderDto } from '@cpg/contracts';
import { DEMO_ORDER, SAMPLE_ORDER } from './sample-orders.ts';

test.each(Object.entries({ SAMPLE_ORDER, DEMO_ORDER }))('%s is valid', (_, order) =>
  expect(MerchantCreateOrderDto.safeParse(order)).toMatchObject({ success: true }),
);
