namespace Snapper.Dashboard.Tests.Browser;

/// <summary>The check itself: it finds what it is there for.</summary>
public sealed class AccessibilityCheckTests(Chromium chromium) : IClassFixture<Chromium>
{
    [Theory]
    [InlineData("<p style='color:#999;background:#fff'>pale</p>", "contrast 2.85 < 4.5")]
    [InlineData("<p style='color:rgba(0,0,0,.3)'>pale</p>", "contrast")]
    [InlineData("<button></button>", "no name: button")]
    [InlineData("<input style='width:50px'>", "no name: input")]
    [InlineData("<svg role='img' width='9' height='9'></svg>", "no name: svg")]
    [InlineData("<h3>too deep</h3>", "heading h3 after h1")]
    [InlineData("<a href='/' tabindex='2'>first</a>", "tabindex 2")]
    [InlineData("<p id='x'>a</p><p id='x'>b</p>", "id x is there twice")]
    [InlineData("<div style='width:3000px'>wide</div>", "px wide in")]
    public async Task It_finds(string flaw, string said)
    {
        await using var visit = await chromium.Open("http://127.0.0.1:9");
        const string Good = "<html lang='en'><title>t</title><body><header class='top'>h</header><nav aria-label='n'>n</nav><main><h1>good</h1>{0}</main></body></html>";
        await visit.Page.SetContentAsync(Good.Replace("{0}", "", StringComparison.Ordinal));
        Assert.Empty(await visit.Page.EvaluateAsync<string[]>(Chromium.AccessibilityScript));
        await visit.Page.SetContentAsync(Good.Replace("{0}", flaw, StringComparison.Ordinal));
        Assert.Contains(await visit.Page.EvaluateAsync<string[]>(Chromium.AccessibilityScript), found => found.Contains(said, StringComparison.Ordinal));
    }
}
