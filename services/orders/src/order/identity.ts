export const orderStreamOf = (orderId: string): string => `order-${orderId}`;
