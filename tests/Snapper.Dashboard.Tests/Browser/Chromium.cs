using Microsoft.Playwright;

namespace Snapper.Dashboard.Tests.Browser;

/// <summary>The system's Chromium, one process for all tests, which ends with this one; each test has a context of its own.</summary>
public sealed class Chromium : IAsyncLifetime
{
    private static readonly string[] s_places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

    // What a page will show it shows, on a machine with neighbours too; only what never comes is a failure.
    private const int PatienceMs = 30_000;

    private static readonly Lazy<Task<IBrowser>> s_browser = new(Launch);

    private IBrowser? _browser;

    /// <summary>Folder for pictures of pages (<c>SNAPPER_PICTURES</c>); null: none are made.</summary>
    public static string? Pictures { get; } = Environment.GetEnvironmentVariable("SNAPPER_PICTURES");

    /// <summary>The check that runs in a page.</summary>
    public static string AccessibilityScript { get; } = ReadScript();

    public async Task InitializeAsync() => _browser = await s_browser.Value;

    public Task DisposeAsync() => Task.CompletedTask;

    /// <summary>A page that notes what its console says is wrong.</summary>
    internal async Task<Visit> Open(string baseUrl, int width = 1300, ColorScheme scheme = ColorScheme.Light, bool scripts = true)
    {
        var context = await _browser!.NewContextAsync(new() { BaseURL = baseUrl, ViewportSize = new() { Width = width, Height = 900 }, ColorScheme = scheme, AcceptDownloads = true, JavaScriptEnabled = scripts });
        context.SetDefaultTimeout(PatienceMs);
        return new Visit(context, await context.NewPageAsync());
    }

    private static async Task<IBrowser> Launch()
    {
        var path = Environment.GetEnvironmentVariable("SNAPPER_CHROMIUM") is { Length: > 0 } named ? named
            : s_places.FirstOrDefault(File.Exists) ?? throw new InvalidOperationException("These tests need a browser: install chromium, or name one in SNAPPER_CHROMIUM.");
        Assertions.SetDefaultExpectTimeout(PatienceMs);
        var playwright = await Playwright.CreateAsync();
        return await playwright.Chromium.LaunchAsync(new() { ExecutablePath = path, Args = ["--no-sandbox", "--disable-gpu"] });
    }

    private static string ReadScript()
    {
        using var stream = new StreamReader(typeof(Chromium).Assembly.GetManifestResourceStream("accessibility.js")!);
        return stream.ReadToEnd();
    }
}

/// <summary>One browser window.</summary>
internal sealed class Visit : IAsyncDisposable
{
    private readonly IBrowserContext _context;
    private readonly List<string> _complaints = [];

    public Visit(IBrowserContext context, IPage page)
    {
        (_context, Page) = (context, page);
        page.Console += (_, message) =>
        {
            if (message.Type is "error" or "warning") _complaints.Add(message.Text);
        };
        page.PageError += (_, error) => _complaints.Add(error);
    }

    public IPage Page { get; }

    /// <summary>What the console says with this word in it was to be expected.</summary>
    public void Forgive(string word) => _complaints.RemoveAll(complaint => complaint.Contains(word, StringComparison.Ordinal));

    public ILocator Main => Page.Locator("main");

    /// <summary>Opens an address and waits until the page draws by itself, or is the one where one signs in.</summary>
    public async Task Go(string address)
    {
        await Page.GotoAsync(address);
        await Connected(Page);
    }

    /// <summary>Waits until what is pressed on the page is heard. One that is being left, and is marked so, is not meant.</summary>
    public static Task Connected(IPage page) => page.Locator("body:not([data-left]) .shell:not([aria-busy]) main h1, body.sign-in:not([data-left]) main h1").First.WaitForAsync();

    /// <summary>Keeps a picture, where that is asked for.</summary>
    public Task Picture(string name) => Chromium.Pictures is not { Length: > 0 } folder
        ? Task.CompletedTask
        : Page.ScreenshotAsync(new() { Path = Path.Combine(folder, name + ".png"), FullPage = true });

    /// <summary>Nothing is missing for those who see little, or use no mouse; and the console is quiet.</summary>
    /// <param name="isShell">False: the page is not one of those with a header and links to the others.</param>
    public async Task Check(bool isShell = true)
    {
        var lacks = await Page.EvaluateAsync<string[]>(Chromium.AccessibilityScript);
        if (!isShell) lacks = [.. lacks.Where(lack => lack is not ("0 of header.top, not 1" or "0 of nav, not 1"))];
        Assert.True(lacks.Length == 0, string.Join("\n", lacks));
        Assert.Empty(_complaints);
    }

    public ValueTask DisposeAsync() => _context.DisposeAsync();
}
