namespace Snapper.Security;

/// <summary>
/// Whether a browser says that a web page of another site has sent a request. A picture or a frame of such a page carries no <c>Origin</c>; what browsers say of any request are the
/// <c>Sec-Fetch</c> headers (W3C Fetch Metadata), which no page can set. Programs send none.
/// </summary>
public static class ForeignPage
{
    /// <summary>Name of the header with whose page it was.</summary>
    public const string SiteHeader = "Sec-Fetch-Site";

    /// <summary>Name of the header with what it is done for.</summary>
    public const string ModeHeader = "Sec-Fetch-Mode";

    /// <summary>Name of the header with what is made of the answer.</summary>
    public const string DestinationHeader = "Sec-Fetch-Dest";

    /// <summary>Another site's page has sent it, and not because somebody followed a link.</summary>
    /// <param name="site">Of <see cref="SiteHeader"/>; null or empty: no browser has sent it.</param>
    /// <param name="mode">Of <see cref="ModeHeader"/>.</param>
    /// <param name="destination">Of <see cref="DestinationHeader"/>.</param>
    public static bool Sends(string? site, string? mode, string? destination) =>
        site is "cross-site" or "same-site" && !(mode == "navigate" && destination == "document");
}
