import { Inject } from '@nestjs/common';
import { Args, Mutation, Query, Resolver } from '@nestjs/graphql';
import { ActiveOrderService, Allow, Ctx, OrderService, Permission, RequestContext } from '@vendure/core';
import { type DocumentNode, parse } from 'graphql';
import { CryptoPaymentsService, type Opened } from './service.ts';

export const schema = (): DocumentNode =>
  parse(`
    type CryptoPayment {
      "Send the shopper to this page."
      paymentUrl: String!
      coin: String!
      amount: String!
      expiresAt: String
    }
    "Why there is no payment page."
    type CryptoPaymentRefusal {
      code: String!
      message: String!
    }
    union CryptoPaymentResult = CryptoPayment | CryptoPaymentRefusal
    extend type Query {
      "The coins with which the active order can be paid now, the preferred one first."
      cryptoPaymentCoins: [String!]!
    }
    extend type Mutation {
      "Opens the payment page of the active order, which is in the state ArrangingPayment."
      openCryptoPayment(coin: String): CryptoPaymentResult!
    }
  `);

@Resolver()
export class ShopApiResolver {
  private readonly service: CryptoPaymentsService;
  private readonly activeOrders: ActiveOrderService;
  private readonly orders: OrderService;

  constructor(
    @Inject(CryptoPaymentsService) service: CryptoPaymentsService,
    @Inject(ActiveOrderService) activeOrders: ActiveOrderService,
    @Inject(OrderService) orders: OrderService,
  ) {
    this.service = service;
    this.activeOrders = activeOrders;
    this.orders = orders;
  }

  @Query()
  @Allow(Permission.Owner)
  async cryptoPaymentCoins(@Ctx() ctx: RequestContext): Promise<string[]> {
    const active = await this.activeOrders.getActiveOrder(ctx, undefined);
    const order = active && (await this.orders.findOne(ctx, active.id));
    return order ? this.service.coinsOf(order) : [];
  }

  @Mutation()
  @Allow(Permission.Owner)
  async openCryptoPayment(@Ctx() ctx: RequestContext, @Args('coin') coin?: string): Promise<Opened> {
    const active = await this.activeOrders.getActiveOrder(ctx, undefined);
    if (!active)
      return { __typename: 'CryptoPaymentRefusal', code: 'order_state', message: 'there is no active order' };
    return this.service.open(ctx, active.id, coin ?? undefined);
  }
}
