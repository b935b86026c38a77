using System.Text.RegularExpressions;
using AngleSharp.Dom;
using Bunit;
using Bunit.TestDoubles;
using Microsoft.AspNetCore.Components;
using Microsoft.AspNetCore.Components.Forms;
using Microsoft.Extensions.DependencyInjection;
using Snapper.Dashboard.Access;
using Snapper.Dashboard.Actions;
using Snapper.Dashboard.Layout;
using Snapper.Dashboard.Store;
using Snapper.Dashboard.Workers;
using Snapper.Security;

namespace Snapper.Dashboard.Tests.Fakes;

/// <summary>
/// The pages of a running dashboard as components, without a browser: their elements, and what a click on one does.
/// What a browser adds (layout, scripts, the connection) is tested in <c>Browser</c>.
/// </summary>
internal sealed class Screen : IAsyncDisposable
{
    // What a page will show it shows, on a machine with neighbours too; only what never comes is a failure.
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(40);

    private readonly BunitContext _context = new();
    private readonly IRenderedComponent<Routes> _page;

    private Screen(RunningDashboard dashboard, string address)
    {
        Share<DashboardSettings>();
        Share<WorkerApi>();
        Share<Fleet>();
        Share<Feeds>();
        Share<Streams>();
        Share<Poller>();
        Share<Handover>();
        Share<KnownTokens>();
        Share<Sessions>();
        _context.Services.AddScoped<RefreshTimer>().AddScoped<Holder>().AddScoped<OperatorActions>();
        _context.AddAuthorization();
        _context.JSInterop.Mode = JSRuntimeMode.Loose;
        _context.SetRendererInfo(new RendererInfo("Server", isInteractive: true));
        Navigation.NavigateTo(address);
        _page = _context.Render<Routes>();

        void Share<T>()
            where T : class => _context.Services.AddSingleton(dashboard.Services.GetRequiredService<T>());
    }

    /// <summary>What is asked of the browser's scripts.</summary>
    public BunitJSInterop Scripts => _context.JSInterop;

    /// <summary>The address that the browser would show, without the server.</summary>
    public string Address => new Uri(Navigation.Uri).PathAndQuery;

    private BunitNavigationManager Navigation => _context.Services.GetRequiredService<BunitNavigationManager>();

    /// <summary>Opens a page.</summary>
    public static Screen Open(RunningDashboard dashboard, string address) => new(dashboard, address);

    /// <summary>Text as it is read: white space is one space.</summary>
    public static string Text(INode node) => Regex.Replace(node.TextContent, @"\s+", " ").Trim();

    /// <summary>Opens another page, or this one with another query.</summary>
    public Task Go(string address) => _page.InvokeAsync(() => Navigation.NavigateTo(address));

    /// <summary>The first element; waits until it is there.</summary>
    public IElement One(string css)
    {
        IElement? found = null;
        Holds(() => Assert.NotNull(found = All(css).FirstOrDefault()));
        return found!;
    }

    /// <summary>All that are there now.</summary>
    public IReadOnlyList<IElement> All(string css) => [.. _page.FindAll(css)];

    /// <summary>Waits until the first such element has this in its text.</summary>
    public void Shows(string text, string css = "main") =>
        Holds(() => Assert.Contains(text, Text(_page.Find(css)), StringComparison.Ordinal));

    /// <summary>Waits until something holds; looks each time that the page is drawn.</summary>
    public void Holds(Action holds) => _page.WaitForAssertion(holds, s_patience);

    /// <summary>Waits for a button or a summary with this text, and presses it.</summary>
    public void Press(string text)
    {
        IElement? found = null;
        Holds(() => Assert.NotNull(found = All("button, summary").FirstOrDefault(one => Text(one) == text)));
        found!.Click();
    }

    /// <summary>Types into the field whose label contains this.</summary>
    public void Type(string label, string text) => Field(label).Input(text);

    /// <summary>The field whose label contains this.</summary>
    public IElement Field(string label)
    {
        IElement? found = null;
        Holds(() => Assert.NotNull(found = All("label").FirstOrDefault(one =>
            Text(one).Contains(label, StringComparison.Ordinal))?.QuerySelector("input, select, textarea")));
        return found!;
    }

    /// <summary>Chooses a file in the page's only field for one.</summary>
    public void Choose(string name, string text) =>
        _page.FindComponent<InputFile>().UploadFiles(InputFileContent.CreateFromText(text, name));

    public ValueTask DisposeAsync() => _context.DisposeAsync();
}
