using Microsoft.AspNetCore.Http;

namespace Snapper.Security;

/// <summary>
/// Whether a browser says that a web page of another site has sent a request. A picture or a frame of such a page carries no <c>Origin</c>; what browsers say of any request are the
/// <c>Sec-Fetch</c> headers (W3C Fetch Metadata), which no page can set. Programs send none.
/// </summary>
public static class ForeignPage
{
    /// <summary>Another site's page has sent a request with these headers, and not because a user followed a link.</summary>
    public static bool Sends(IHeaderDictionary headers)
    {
        ArgumentNullException.ThrowIfNull(headers);
        return headers["Sec-Fetch-Site"].ToString() is "cross-site" or "same-site" && !(headers["Sec-Fetch-Mode"] == "navigate" && headers["Sec-Fetch-Dest"] == "document");
    }
}
