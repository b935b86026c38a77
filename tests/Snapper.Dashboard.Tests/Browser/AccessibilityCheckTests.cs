using Snapper.Dashboard.Tests.Fakes;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary>The check itself: it finds what it is there for.</summary>
public sealed class AccessibilityCheckTests(Chromium chromium) : IClassFixture<Chromium>
{
    private static readonly (string Flaw, string Said)[] s_flaws =
    [
        ("<p style='color:#999;background:#fff'>pale</p>", "contrast 2.85 < 4.5"),
        ("<p style='color:rgba(0,0,0,.3)'>pale</p>", "contrast"),
        ("<button></button>", "no name: button"),
        ("<input style='width:50px'>", "no name: input"),
        ("<svg role='img' width='9' height='9'></svg>", "no name: svg"),
        ("<h3>too deep</h3>", "heading h3 after h1"),
        ("<a href='/' tabindex='2'>first</a>", "tabindex 2"),
        ("<p id='x'>a</p><p id='x'>b</p>", "id x is there twice"),
        ("<div style='width:3000px'>wide</div>", "px wide in"),
    ];

    [Fact]
    public async Task It_finds_each_flaw_and_none_where_there_is_none()
    {
        await using var visit = await chromium.Open("http://127.0.0.1:9");
        Assert.Empty(await Found(""));
        await Rows.All(s_flaws, async row =>
            Assert.Contains(await Found(row.Flaw), found => found.Contains(row.Said, StringComparison.Ordinal)));

        async Task<string[]> Found(string flaw)
        {
            await visit.Page.SetContentAsync(
                "<html lang='en'><title>t</title><body><header class='top'>h</header><nav aria-label='n'>n</nav>"
                + $"<main><h1>good</h1>{flaw}</main></body></html>");
            return await visit.Page.EvaluateAsync<string[]>(Chromium.AccessibilityScript);
        }
    }
}
