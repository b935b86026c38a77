using System.Net.WebSockets;
using System.Text;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Hosting.Server.Features;

namespace Snapper.Dashboard.Hosting;

/// <summary>
/// What a browser does first, done once by the dashboard itself over loopback: it loads the page around all pages and opens the connection over which they are drawn, no further than its greeting. It
/// shows no token; where one must sign in it is led to the page where that is done.
/// </summary>
internal static class OwnVisit
{
    // Ends each message of the greeting.
    private const byte Separator = 0x1e;

    /// <exception cref="HttpRequestException">The dashboard refuses.</exception>
    /// <exception cref="WebSocketException">It refuses the connection.</exception>
    /// <exception cref="OperationCanceledException">It was too late.</exception>
    public static async Task Make(IServer server, bool signsIn, CancellationToken cancellation)
    {
        // "[::]" listens on loopback, too.
        var listens = new Uri(server.Features.Get<IServerAddressesFeature>()!.Addresses.First().Replace("[::]", "127.0.0.1", StringComparison.Ordinal));
        using var handler = new SocketsHttpHandler { UseProxy = false };
        using var http = new HttpClient(handler, disposeHandler: false) { BaseAddress = listens };
        http.DefaultRequestHeaders.Accept.ParseAdd("text/html");
        using var page = await http.GetAsync(new Uri("/", UriKind.Relative), cancellation).ConfigureAwait(false);
        page.EnsureSuccessStatusCode();
        if (signsIn) return;
        using var negotiated = await http.PostAsync(new Uri("/_blazor/negotiate?negotiateVersion=1", UriKind.Relative), null, cancellation).ConfigureAwait(false);
        negotiated.EnsureSuccessStatusCode();
        using var socket = new ClientWebSocket();
        socket.Options.Proxy = null;
        await socket.ConnectAsync(new UriBuilder(listens) { Scheme = "ws", Path = "/_blazor" }.Uri, cancellation).ConfigureAwait(false);
        byte[] greeting = [.. Encoding.UTF8.GetBytes("""{"protocol":"blazorpack","version":1}"""), Separator];
        await socket.SendAsync(greeting, WebSocketMessageType.Text, true, cancellation).ConfigureAwait(false);
        var answer = new byte[256];
        await socket.ReceiveAsync(answer, cancellation).ConfigureAwait(false);
        await socket.CloseOutputAsync(WebSocketCloseStatus.NormalClosure, null, cancellation).ConfigureAwait(false);
    }
}
