import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.api.OrdersApi;
import org.openapitools.client.model.*;

/** Prints the states of an order that it creates, lists, cancels, and reads with a state of a later version. */
public class Shop {
  public static void main(String[] arguments) throws Exception {
    OrdersApi orders = apiAt(System.getenv("BASE_URL"));
    MerchantCreateOrderDto body = new MerchantCreateOrderDto()
        .externalReferenceId("java-1")
        .addItemsItem(new ItemDto().name("Coffee").quantity(new java.math.BigDecimal("1.5")).unitPrice("10").currency(ItemCurrency.USD))
        .enableRails(new java.util.LinkedHashSet<>(List.of(Rail.GATEWAY_PAY)))
        .paymentCurrency(PaymentCurrency.USDT)
        .capabilities(new CapabilitiesDto().canCancel(true).canUpdate(true).canOverpay(false).partialPayments(true)
            .expressCheckout(false).expirationAutoRenewal(false))
        .metadata(Map.of("table", "B7"));
    Order created = orders.createOrder(body, "java-" + System.nanoTime());
    OrderPage page = orders.listOrders(null, null, 1, SortOrder.DESC, null, null, List.of(OrderStatus.AWAITING_PAYMENT), "java-1",
        null, null, "table=B7", null, null, null);
    Order later = apiAt(System.getenv("LATER_URL")).getOrder(created.getId(), null);
    OrderHistoryPage history = orders.listOrderHistory(created.getId(), 1, null);
    Order canceled = orders.cancelOrder(created.getId(), null, null);
    int refusal = 0;
    try {
      orders.getOrder("ord_unknown", null);
    } catch (ApiException error) {
      refusal = error.getCode();
    }
    System.out.println("RESULT " + String.join(" ", created.getStatus().getValue(), page.getItems().get(0).getId().equals(created.getId()) ? "listed" : "missing",
        ((OrderCreatedEntry) history.getItems().get(0).getActualInstance()).getData().getItems().get(0).getName(), later.getStatus().getValue(),
        canceled.getStatus().getValue(), String.valueOf(refusal)));
  }

  private static OrdersApi apiAt(String url) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(url);
    client.setRequestInterceptor(request -> request.header("x-api-key", System.getenv("API_KEY")));
    return new OrdersApi(client);
  }
}
